// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { type Shown, shown } from '../base/errors/shown-text.js';
import { deliveryStates } from '../jobs/contract/webhook.js';
import type { Delivery } from '../jobs/queue/delivery.js';
import { type DeliveryFilter, DeliveryTable } from '../jobs/queue/delivery-table.js';
import { type WebhookSecret, WebhookSecrets } from '../jobs/queue/webhook-secrets.js';
import { withDatabase } from '../state/database/open-database.js';
import { DEFAULT_ACCOUNT } from '../state/keys/api-key.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { noteDataFolder } from './data-folder-note.js';
import { parseAccount } from './keys.js';
import { print, printJson, tell } from './output.js';
import { textTable } from './text-table.js';
import { deliveryTable, publicDelivery } from './webhook-tables.js';

interface DeliveriesOptions extends DeliveryFilter {
  readonly job?: string;
  readonly limit: number;
  readonly json?: true;
}

const MAX_DELIVERIES = 10_000;
const DEFAULT_OVERLAP_MS = 86_400_000;

export function addWebhooksCommand(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('Manage the secrets that sign webhooks; list and replay deliveries.');

  webhooks
    .command('create-secret')
    .description(
      'Create a secret and print it. It is shown only once; earlier ones stay valid for the overlap.',
    )
    .option('--account <name>', 'account whose webhooks it signs', parseAccount, DEFAULT_ACCOUNT)
    .addOption(
      new Option('--overlap <time>', 'time for which earlier secrets of the account still sign: 24h, 7d or 0')
        .argParser(parseOverlap)
        .default(DEFAULT_OVERLAP_MS, '24h'),
    )
    .action(async ({ account, overlap }: { account: string; overlap: number }) => {
      const config = loadConfig(process.env);
      const { text, ...secret } = await withDatabase(config, (database) =>
        // No secret without a line in the audit.
        new WebhookSecrets(database).create(account, overlap, ({ id: secretId }) =>
          noteAdminAct(config, { event: 'webhook_secret_created', secretId, account }),
        ),
      );
      tell(shown`Created. The secret is shown only once:\n\n${secretTable([secret])}\n`);
      noteDataFolder(config.dataDir);
      print(shown`${text}\n`);
    });

  webhooks
    .command('secrets')
    .description('List the secrets of all accounts, without the secrets themselves.')
    .option('--json', 'one line of JSON per secret')
    .action(async ({ json }: { json?: true }) => {
      const config = loadConfig(process.env);
      const found = await withDatabase(config, (database) => new WebhookSecrets(database).list());
      if (json) for (const secret of found) printJson(publicPart(secret));
      else print(found.length === 0 ? shown`No secrets.\n` : secretTable(found));
      noteDataFolder(config.dataDir);
    });

  webhooks
    .command('revoke-secret <id>')
    .description('Stop signing with a secret at once, by its id in `webhooks secrets`.')
    .action(async (id: string) => {
      const config = loadConfig(process.env);
      const removed = await withDatabase(config, (database) =>
        new WebhookSecrets(database).remove(id, ({ account }) =>
          noteAdminAct(config, { event: 'webhook_secret_revoked', secretId: id, account }),
        ),
      );
      if (removed === undefined) {
        throw new Error(`There is no webhook secret with the id ${id} in ${config.dataDir}.`);
      }
      tell(shown`Revoked ${id}.\n`);
      noteDataFolder(config.dataDir);
    });

  webhooks
    .command('deliveries')
    .description('List webhooks and their outcome, newest first.')
    .option('--account <name>', 'only those of this account', parseAccount)
    .option('--job <id>', 'only the webhook of this job')
    .addOption(new Option('--state <state>', 'only those in this state').choices([...deliveryStates]))
    .option('--limit <number>', `how many, at most ${MAX_DELIVERIES}`, parseLimit, 50)
    .option('--json', 'one line of JSON per delivery, with its attempts')
    .action(async ({ job: jobId, limit, json, ...filter }: DeliveriesOptions) => {
      const config = loadConfig(process.env);
      const found = await withDeliveries(config, (deliveries) =>
        deliveries.list({ ...filter, jobId }, limit),
      );
      if (json) for (const delivery of found) printJson(publicDelivery(delivery));
      else print(found.length === 0 ? shown`No deliveries.\n` : deliveryTable(found));
      noteDataFolder(config.dataDir);
    });

  webhooks
    .command('replay')
    .argument('[id...]', 'ids of deliveries or of their jobs')
    .description('Resend delivered or failed webhooks under their old ids.')
    .option('--failed', 'all failed webhooks')
    .action(async (ids: string[], { failed }: { failed?: true }, command: Command) => {
      if ((ids.length === 0) !== (failed === true)) {
        command.error('error: Expected ids or --failed, but not both.');
      }
      const config = loadConfig(process.env);
      const replayed = await withDeliveries(config, async (deliveries) => {
        const replay = (id: string): Promise<Delivery | undefined> =>
          // Nothing is sent again without a line in the audit.
          deliveries.replay(id, ({ id: deliveryId, account }) =>
            noteAdminAct(config, { event: 'webhook_replayed', deliveryId, account }),
          );
        let count = 0;
        for (const id of failed ? await deliveries.failedIds() : ids) {
          if ((await replay(id)) !== undefined) count++;
          // One that failed may have been replayed meanwhile.
          else if (!failed) throw new Error(`There is no ended delivery for ${id}.`);
        }
        return count;
      });
      tell(shown`${replayed} to be sent again by the running server.\n`);
      noteDataFolder(config.dataDir);
    });
}

const withDeliveries = <Result>(
  config: Config,
  work: (deliveries: DeliveryTable) => Promise<Result>,
): Promise<Result> => withDatabase(config, (database) => work(new DeliveryTable(database)));

const toSeconds = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');

const secretTable = (found: readonly WebhookSecret[]): Shown =>
  textTable(
    ['id', 'account', 'created', 'signs until'],
    found.map(({ id, account, createdAtMs, endsAtMs }) => [
      id,
      account,
      toSeconds(createdAtMs),
      endsAtMs === undefined ? 'it is replaced' : toSeconds(endsAtMs),
    ]),
  );

const publicPart = ({ id, account, createdAtMs, endsAtMs }: WebhookSecret) => ({
  id,
  account,
  created_at: new Date(createdAtMs),
  ends_at: endsAtMs === undefined ? null : new Date(endsAtMs),
});

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseOverlap(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
  const overlapMs = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (!Number.isNaN(overlapMs)) return overlapMs;
  throw new InvalidArgumentError(`Expected a time such as 24h, 7d or 0 but received ${text}.`);
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_DELIVERIES) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DELIVERIES} but received ${text}.`);
}
