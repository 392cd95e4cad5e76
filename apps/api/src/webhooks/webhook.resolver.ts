import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { createWebhook, deleteWebhook, deliverAgain, deliverWebhookJob, listWebhooks } from '#lib/webhooks';
import { connect, PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import {
  CreatedWebhook,
  CreateWebhookInput,
  Webhook,
  WebhookConnection,
  WebhookDelivery,
  WebhookDeliveryConnection,
} from './webhook.object.js';
import { deliveryById, NEWEST_WEBHOOK, webhookById } from './webhook.reader.js';

@Resolver(() => Webhook)
export class WebhookResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Query(() => WebhookConnection, { description: 'Newest first, deleted ones too.' })
  @Needs('admin')
  webhooks(@Args() page: PageArgs, @Context() { db }: RequestContext) {
    return connect(page, NEWEST_WEBHOOK, (limit, after) =>
      listWebhooks(db, limit, after && { createdAt: new Date(after[0]), id: String(after[1]) }),
    );
  }

  @Query(() => Webhook, { nullable: true })
  @Needs('admin')
  webhook(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext): Promise<Webhook | null> {
    return webhookById(db, id);
  }

  @ResolveField(() => WebhookDeliveryConnection, { description: 'The log, newest first.' })
  deliveries(@Parent() webhook: Webhook, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.deliveries.load({ parent: webhook.id, page, filter: null });
  }

  @Mutation(() => CreatedWebhook, { description: "Tells an address when alerts of the project's runs open and close." })
  @Needs('admin')
  createWebhook(
    @Args('input', { type: () => CreateWebhookInput }) input: CreateWebhookInput,
    @Context() { db }: RequestContext,
  ) {
    return createWebhook(db, input);
  }

  @Mutation(() => Webhook, { description: 'What was not delivered is given up; the log stays.' })
  @Needs('admin')
  deleteWebhook(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return deleteWebhook(db, id);
  }

  @Mutation(() => WebhookDelivery, { description: 'Sends a delivery again, whatever came of it before.' })
  @Needs('admin')
  async deliverWebhookAgain(
    @Args('delivery', { type: () => ID }) id: string,
    @Context() { db }: RequestContext,
  ): Promise<WebhookDelivery | null> {
    await this.ports.queue.enqueue(deliverWebhookJob, [await deliverAgain(db, id)]);
    return deliveryById(db, id);
  }
}
