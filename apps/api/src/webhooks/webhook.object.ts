import { Field, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';

export enum AlertEdge {
  OPENED = 'opened',
  CLOSED = 'closed',
}
registerEnumType(AlertEdge, { name: 'AlertChange' });

export enum DeliveryState {
  PENDING = 'pending',
  DELIVERED = 'delivered',
  FAILED = 'failed',
}
registerEnumType(DeliveryState, { name: 'DeliveryState' });

@ObjectType({ description: "An address that is told when alerts of a project's runs open and close." })
export class Webhook {
  @Field(() => ID)
  id!: string;

  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  url!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  deletedAt!: Date | null;
}

@ObjectType()
export class CreatedWebhook {
  @Field(() => Webhook)
  webhook!: Webhook;

  @Field(() => String, { description: 'Deliveries are signed with it: shown this once.' })
  secret!: string;
}

@ObjectType({ description: 'One request, and what came of it.' })
export class DeliveryTry {
  @Field(() => GraphQLISODateTime)
  at!: Date;

  @Field(() => Int, { nullable: true, description: 'Of the HTTP answer; null: none came.' })
  status!: number | null;

  @Field(() => String, { nullable: true, description: 'Why it does not count as delivered; null: it does.' })
  reason!: string | null;

  @Field(() => Int)
  milliseconds!: number;
}

@ObjectType({ description: 'What one webhook is told of one edge of an alert.' })
export class WebhookDelivery {
  @Field(() => ID, { description: 'The same at each try, and in the header `webhook-id`.' })
  id!: string;

  @Field(() => ID)
  run!: string;

  @Field(() => ID)
  alert!: string;

  @Field(() => AlertEdge)
  edge!: AlertEdge;

  @Field(() => String, { description: 'What is sent: JSON.' })
  body!: string;

  @Field(() => DeliveryState, { description: 'FAILED: no try is left, or the webhook was deleted.' })
  state!: DeliveryState;

  @Field(() => [DeliveryTry], { description: 'The last 50, oldest first.' })
  tries!: readonly DeliveryTry[];

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  finishedAt!: Date | null;
}

@ObjectType()
export class WebhookConnection extends connectionOf(Webhook) {}

@ObjectType()
export class WebhookDeliveryConnection extends connectionOf(WebhookDelivery) {}

@InputType()
export class CreateWebhookInput {
  @Field(() => String, { description: 'Name or id.' })
  project!: string;

  @Field(() => String, { description: 'http or https.' })
  url!: string;
}
