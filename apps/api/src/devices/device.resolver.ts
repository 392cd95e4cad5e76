import { shardTimes } from '#lib/analysis';
import { Inject } from '@nestjs/common';
import { Field, Float, ID, Int, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { PORTS, type ApiPorts } from '../ports.js';

@ObjectType({ description: 'What computed the results that are stored. The API loads none of them.' })
export class Device {
  @Field(() => ID, { description: 'As it stands on a shard: cpu, wasm, webgpu (its adapter) or cuda.' })
  id!: string;

  @Field(() => String)
  description!: string;

  @Field(() => Int, { description: 'Stored results that it computed, of all projects.' })
  results!: number;

  @Field(() => Float, { description: 'What they took.' })
  seconds!: number;
}

/** By what a device's name begins with. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  cpu: 'the processors of the workers, typed arrays in float64',
  wasm: 'the processors of the workers through WebAssembly, tensors in float32',
  webgpu: 'a GPU of a worker through WebGPU, tensors in float32',
  cuda: 'an NVIDIA GPU of a worker through TensorFlow, tensors in float32',
};
const REMEMBERED_MS = 2000;

@Resolver(() => Device)
export class DeviceResolver {
  #found: { readonly at: number; readonly devices: Promise<Device[]> } | null = null;

  constructor(@Inject(PORTS) private readonly ports: Pick<ApiPorts, 'platform'>) {}

  @Query(() => [Device], { description: 'The processor, and every other device that computed something.' })
  devices(): Promise<Device[]> {
    const now = performance.now();
    if (!this.#found || now - this.#found.at > REMEMBERED_MS) this.#found = { at: now, devices: this.#look() };
    return this.#found.devices;
  }

  async #look(): Promise<Device[]> {
    const times = await shardTimes(this.ports.platform);
    const ids = new Set(['cpu', ...times.map(({ device }) => device)]);
    return [...ids].map((id) => {
      const own = times.filter(({ device }) => device === id);
      const sum = (of: (time: (typeof own)[number]) => number) => own.reduce((total, time) => total + of(time), 0);
      return {
        id,
        description: DESCRIPTIONS[/^\w+/.exec(id)?.[0] ?? ''] ?? id,
        results: sum(({ credit, missing }) => credit + missing),
        seconds: sum(({ seconds }) => seconds),
      };
    });
  }
}
