/** What Linux shows of a GPU: of Intel, AMD and newer NVIDIA drivers, of NVIDIA's own, of WSL. */
const NODES = ['/dev/dri', '/dev/nvidia0', '/dev/dxg'];
/** Whoever names a Vulkan driver wants it to be tried. */
const DRIVERS = ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES'];

/**
 * Why a GPU need not be looked for; null: it may be there. Dawn complains on standard error of every machine without Vulkan,
 * which most servers are.
 */
export function noGpu(): string | null {
  if (process.platform !== 'linux' || DRIVERS.some((name) => process.env[name])) return null;
  const files = process.getBuiltinModule?.('fs');
  if (!files || NODES.some((node) => files.existsSync(node))) return null;
  return `no GPU: there is none of ${NODES.join(', ')}`;
}
