import { messageOf, RecreditError } from '#lib/kernel';
import { openCuda } from './cuda-device.js';
import { DEVICE_IDS, type Device, type DeviceId, type DeviceWish } from './device.js';
import { openWasm } from './wasm-device.js';
import { openWebgpu } from './webgpu-device.js';

export type OpenDevice = () => Promise<Device>;

const OPEN: Readonly<Record<DeviceId, OpenDevice>> = { cuda: openCuda, webgpu: openWebgpu, wasm: openWasm };

/** What became of a device when it was looked for. */
export interface DeviceReport {
  readonly id: DeviceId;
  /** true: it computes. Whether `auto` takes it is `chosen` */
  readonly isThere: boolean;
  /** the first one that is there, and that the operator's wish allows */
  readonly chosen: boolean;
  /** its name, or why it is not there */
  readonly found: string;
}

/** What was computed, on which device, and what failed before it. */
export interface Computed<Value> {
  readonly value: Value;
  /** its name; of a GPU behind WebGPU also which one it is */
  readonly device: string;
  /** a sentence for each device that failed */
  readonly warnings: readonly string[];
}

/**
 * Opens devices one after the other, lazily, and remembers which failed. One of these per thread.
 *
 * @param wish `auto`: cuda, webgpu, wasm, in this order, a software adapter left out. Any other: that one or none
 */
export class Devices {
  readonly #failed = new Map<DeviceId, string>();
  #open: Device | null = null;
  #opening: Promise<Device> | null = null;

  constructor(
    readonly wish: DeviceWish = 'auto',
    private readonly open: Readonly<Record<DeviceId, OpenDevice>> = OPEN,
  ) {}

  /**
   * The device to compute on.
   *
   * @throws RecreditError `device.unavailable`, with what was tried and why it failed
   */
  current(): Promise<Device> {
    // opened once, however many ask for it at the same time
    this.#opening ??= this.#openNext().finally(() => (this.#opening = null));
    return this.#opening;
  }

  async #openNext(): Promise<Device> {
    if (this.#open) return this.#open;
    for (const id of this.#candidates()) {
      if (this.#failed.has(id)) continue;
      try {
        const device = await this.open[id]();
        if (this.wish !== 'auto' || !device.isSoftware) return (this.#open = device);
        this.#failed.set(id, softwareText(device));
      } catch (error) {
        this.#failed.set(id, messageOf(error));
      }
    }
    const tried = [...this.#failed].map(([id, why]) => `${id}: ${why}`).join('; ');
    throw new RecreditError('device.unavailable', `RECREDIT_DEVICE=${this.wish}: no such device here (${tried})`, {
      wish: this.wish,
      tried: Object.fromEntries(this.#failed),
    });
  }

  /**
   * Computes something on the device; where the device fails, once more on the next one. What is wrong with the work itself (a
   * `RecreditError`) is the same anywhere.
   *
   * @throws RecreditError `device.unavailable`; what the device threw, where there is no other
   */
  async compute<Value>(work: (device: Device) => Promise<Value>): Promise<Computed<Value>> {
    const failures: string[] = [];
    for (;;) {
      const device = await this.current();
      try {
        const value = await work(device);
        return { value, device: nameOf(device), warnings: failures.map((each) => `${each}: computed on ${device.id}`) };
      } catch (error) {
        if (error instanceof RecreditError) throw error;
        failures.push(`${device.id} failed (${messageOf(error)})`);
        const isLast = !this.#giveUp(device, messageOf(error)) || failures.length > 1;
        if (isLast) throw new Error(failures.join('; '), { cause: error });
      }
    }
  }

  /** @returns whether there is another one to try */
  #giveUp(device: Device, reason: string): boolean {
    this.#failed.set(device.id, reason);
    if (this.#open === device) this.#open = null;
    return this.#candidates().some((id) => !this.#failed.has(id));
  }

  #candidates(): readonly DeviceId[] {
    return this.wish === 'auto' ? DEVICE_IDS : [this.wish];
  }
}

/** Opens every device once and says what is there. Loads all of tensorflow.js: for a process that ends afterwards. */
export async function probeDevices(
  wish: DeviceWish = 'auto',
  open: Readonly<Record<DeviceId, OpenDevice>> = OPEN,
): Promise<DeviceReport[]> {
  const reports: DeviceReport[] = [];
  for (const id of DEVICE_IDS) {
    const isAllowed = !reports.some(({ chosen }) => chosen) && (wish === 'auto' || wish === id);
    try {
      const device = await open[id]();
      const chosen = isAllowed && (wish === id || !device.isSoftware);
      const found = device.isSoftware && wish === 'auto' ? softwareText(device) : device.description;
      reports.push({ id, isThere: true, chosen, found });
    } catch (error) {
      reports.push({ id, isThere: false, chosen: false, found: messageOf(error) });
    }
  }
  return reports;
}

const nameOf = ({ id, description }: Device) => (id === 'webgpu' ? `${id} (${description})` : id);

const softwareText = ({ id, description }: Device) =>
  `${description}: a software adapter, slower than wasm, taken only with RECREDIT_DEVICE=${id}`;
