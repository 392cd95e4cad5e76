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
export type { Skipped } from './tally.js';
