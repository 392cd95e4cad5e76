export { backUp, type BackupProgress } from './back-up.js';
export { readManifest, type Manifest } from './manifest.js';
export { restore, type Restored, type RestorePorts } from './restore.js';
