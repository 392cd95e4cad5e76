export { detectFormat, type Detected } from './detect-format.js';
export {
  importFiles,
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
  type ImportTarget,
} from './import-files.js';
export type { Importer, Parsed, Reader, SourceEvent, SourceFile } from './importer.js';
export { importerOf, IMPORTERS } from './importers.js';
export { openFile, type OpenFile } from './open-file.js';
export { previewFiles, type Preview } from './preview-files.js';
export type { RecognizedFile } from './source-files.js';
export type { Skipped } from './tally.js';
