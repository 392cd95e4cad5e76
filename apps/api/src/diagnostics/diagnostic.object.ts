import { Field, Float, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

export enum AlertLevel {
  INFO = 'info',
  WARN = 'warn',
  CRITICAL = 'critical',
}
registerEnumType(AlertLevel, { name: 'AlertLevel' });

@ObjectType({ description: 'Where a reader can look: a training step, or a group, trajectory or turn in it.' })
export class Evidence {
  @Field(() => Int)
  trainingStep!: number;

  @Field(() => String, { nullable: true })
  group?: string | null;

  @Field(() => String, { nullable: true })
  trajectory?: string | null;

  @Field(() => Int, { nullable: true })
  turn?: number | null;

  @Field(() => String, { description: 'What is to be seen there, in a few words.' })
  note!: string;
}

@ObjectType({ description: 'The values of one training step.' })
export class DiagnosticStep {
  @Field(() => Int)
  trainingStep!: number;

  @Field(() => Json, { description: 'By name; null where a value is undefined.' })
  values!: unknown;

  @Field(() => Int, { description: 'Groups, trajectories or turns that they rest on.' })
  observations!: number;
}

@ObjectType({ description: 'A stretch of training steps in which a diagnostic was beyond its threshold.' })
export class AlertStretch {
  @Field(() => String)
  rule!: string;

  @Field(() => AlertLevel)
  level!: AlertLevel;

  @Field(() => String, { description: 'What it means, in one sentence.' })
  says!: string;

  @Field(() => Json, { description: 'The values that opened it.' })
  saw!: unknown;

  @Field(() => Int, { description: 'The training step whose values opened it.' })
  openedStep!: number;

  @Field(() => Int, { nullable: true, description: 'The training step whose values closed it; null: it is open.' })
  closedStep!: number | null;
}

@ObjectType({ description: 'A measured statement about a run.' })
export class Diagnostic {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  title!: string;

  @Field(() => String, { description: 'What it asks.' })
  question!: string;

  @Field(() => String, { description: 'What usually helps when it alerts.' })
  remedy!: string;

  @Field(() => Position, { description: 'It speaks of events before this position.' })
  asOf!: number;

  @Field(() => String, { description: 'What it says, in one sentence.' })
  reading!: string;

  @Field(() => String, { description: 'Name of the value that matters most.' })
  headline!: string;

  @Field(() => Float, { nullable: true, description: 'That value; null: undefined, and `reasons` says why.' })
  value!: number | null;

  @Field(() => Json, { description: 'Numbers by name; null: undefined, and `reasons` says why.' })
  values!: unknown;

  @Field(() => Json, { description: 'By the name of a value: why it is undefined.' })
  reasons!: unknown;

  @Field(() => [Evidence], { description: 'The places that show it best.' })
  evidence!: readonly Evidence[];

  @Field(() => [AlertStretch], {
    description: 'What its rules say of these training steps, in the order of their opening.',
  })
  alerts!: readonly AlertStretch[];

  @Field(() => [String], { description: 'Signals that it lacked, and on how many training steps.' })
  missing!: readonly string[];

  @Field(() => [String], { description: 'Why it failed, and on how many training steps.' })
  failed!: readonly string[];

  @Field(() => Int, { description: 'Version of the settings that it was asked with.' })
  settingsVersion!: number;

  @Field(() => Json, {
    description: 'What it was asked with, by name: params, thresholds, and `hold` where it is set.',
  })
  settings!: unknown;

  @Field(() => Json, { nullable: true, description: 'Tables and curves behind it.' })
  detail?: unknown;

  @Field(() => Int, { description: 'Training steps that are not measured yet, and are not spoken of.' })
  pendingSteps!: number;
}

@ObjectType({ description: 'A question that every run is asked.' })
export class DiagnosticKind {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  title!: string;

  @Field(() => String, { description: 'What it asks.' })
  question!: string;

  @Field(() => String, { description: 'Where its formula or thresholds come from.' })
  source!: string;

  @Field(() => [String], { description: 'Signals without which it says nothing.' })
  requires!: readonly string[];

  @Field(() => [String], { description: 'Signals that it uses where they are there.' })
  accepts!: readonly string[];

  @Field(() => Json, { description: 'JSON Schema of what can be set of it, with defaults.' })
  settings!: unknown;
}

@ObjectType({ description: 'Who set a setting that is in force.' })
export class SettingOrigin {
  @Field(() => String)
  diagnostic!: string;

  @Field(() => String, { description: 'Of the setting.' })
  name!: string;

  @Field(() => Int, { description: 'Of the settings, since which it has its value.' })
  version!: number;

  @Field(() => GraphQLISODateTime)
  setAt!: Date;

  @Field(() => ID, { nullable: true, description: 'Id of a key; null: the platform itself.' })
  setBy!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of that key; null: the caller does not see it.' })
  keyName!: string | null;
}

@ObjectType({ description: 'What the diagnostics of a run are asked with, where it differs from their defaults.' })
export class DiagnosticSettings {
  run!: string;

  @Field(() => Int, { description: 'Each change makes a new one; 0: nothing was ever set.' })
  version!: number;

  @Field(() => Json, { description: 'By diagnostic, by name.' })
  settings!: unknown;
}

@ObjectType({ description: 'A diagnostic was beyond its threshold for a while, and the log says so.' })
export class Alert extends AlertStretch {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  diagnostic!: string;

  @Field(() => GraphQLISODateTime)
  openedAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  closedAt!: Date | null;
}

@ObjectType()
export class AlertConnection extends connectionOf(Alert) {}
