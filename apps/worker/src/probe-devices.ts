import { probeDevices, type DeviceWish } from '#lib/tensor';

// A process of its own, see probed-devices.ts: what a driver does to it, it does to nothing else.

probeDevices(process.argv[2] as DeviceWish).then(
  (reports) => process.send?.(reports, () => process.exit(0)),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
