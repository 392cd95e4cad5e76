import { askForDevices, shardTimes, workerDevices } from '#lib/analysis';
import { Inject } from '@nestjs/common';
import { Field, Float, GraphQLISODateTime, ID, Int, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { Needs } from '../graphql/role.guard.js';
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

@ObjectType({ description: "A device on a worker's machine, as it was when somebody last asked for devices." })
export class WorkerDevice {
  @Field(() => String, { description: 'Name of the machine.' })
  host!: string;

  @Field(() => String, { description: 'cuda, webgpu or wasm.' })
  device!: string;

  @Field(() => Boolean, { description: 'Whether it computes.' })
  isThere!: boolean;

  @Field(() => Boolean, {
    description: 'Whether estimators that learn, and what compares states, compute on it there.',
  })
  isChosen!: boolean;

  @Field(() => String, { description: 'Its name, or why it is not there.' })
  found!: string;

  @Field(() => GraphQLISODateTime)
  lookedAt!: Date;
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

  @Query(() => [WorkerDevice], {
    description: 'What the workers found on their machines, once somebody asked by lookForDevices; by machine.',
  })
  workerDevices(): Promise<WorkerDevice[]> {
    return workerDevices(this.ports.platform);
  }

  @Needs('analyze')
  @Mutation(() => Boolean, {
    description:
      'Has every worker try the devices of its machine. What they find stands in workerDevices some seconds later.',
  })
  async lookForDevices(): Promise<boolean> {
    await askForDevices(this.ports.platform);
    return true;
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
