import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An estimator that failed is a result with its reason, tried again by the next analysis that asks; results of users' own
 * estimators say which file they are of; and what counts as the same state is a choice of the analysis.
 */
export class OwnEstimatorsAndStates1767225611000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table credit_result
        add column estimator_hash text, -- of a user's own estimator: what its file's sha256 begins with
        add column reason text,         -- why it failed
        drop constraint credit_result_outcome_check,
        add constraint credit_result_outcome_check check (outcome in ('credit', 'missing', 'failed')),
        add constraint credit_result_reason_check check ((outcome = 'failed') = (reason is not null));
      -- null: the state as it was recorded
      alter table analysis add column state_identity jsonb;
      grant update on credit_result, shard_summary to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      revoke update on credit_result, shard_summary from recredit_app;
      alter table analysis drop column state_identity;
      delete from credit_result where outcome = 'failed';
      alter table credit_result
        drop constraint credit_result_reason_check,
        drop constraint credit_result_outcome_check,
        add constraint credit_result_outcome_check check (outcome in ('credit', 'missing')),
        drop column reason,
        drop column estimator_hash;
    `);
  }
}
