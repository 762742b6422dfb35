// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import type { Database, Row } from '../../state/database/database.js';

/** Signs the webhooks of an account. */
export interface WebhookSecret {
  /** Public; names it on the command line and in the audit. */
  readonly id: string;
  readonly account: string;
  readonly createdAtMs: number;
  /** It signs until then; undefined without an end. */
  readonly endsAtMs?: number | undefined;
}

/** With it; both sides need the same bytes, so it cannot be kept as a digest. */
export interface SigningSecret extends WebhookSecret {
  /** `whsec_` and base64. */
  readonly text: string;
}

const SECRET_BYTES = 32;
const columns = 'id, account, secret, created_at_ms, ends_at_ms';

interface SecretRow extends Row {
  readonly id: string;
  readonly account: string;
  readonly secret: string;
  readonly created_at_ms: number;
  readonly ends_at_ms: number | null;
}

/** The secrets of all accounts. */
export class WebhookSecrets {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Makes a secret, next to which earlier ones of the account sign for the overlap and no longer.
   * @param beforeCommit what must have happened before it counts, such as a line in the audit
   */
  create(
    account: string,
    overlapMs: number,
    beforeCommit: (secret: WebhookSecret) => Promise<void> = async () => {},
  ): Promise<SigningSecret> {
    const created: SigningSecret = {
      id: `whs_${randomBytes(6).toString('hex')}`,
      account,
      createdAtMs: Date.now(),
      text: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
    };
    const { id, text, createdAtMs } = created;
    return this.#database.transaction(
      async (transaction) => {
        await transaction.execute(
          'UPDATE webhook_secrets SET ends_at_ms = $2 WHERE account = $1 AND (ends_at_ms IS NULL OR ends_at_ms > $2)',
          [account, createdAtMs + overlapMs],
        );
        await transaction.execute(`INSERT INTO webhook_secrets (${columns}) VALUES ($1, $2, $3, $4, NULL)`, [
          id,
          account,
          text,
          createdAtMs,
        ]);
        await beforeCommit(created);
        return created;
      },
      { lock: `webhook secrets of ${account}` },
    );
  }

  /** Secrets that sign now, newest first. */
  async active(account: string): Promise<SigningSecret[]> {
    const rows = await this.#database.query<SecretRow>(
      `SELECT ${columns} FROM webhook_secrets WHERE account = $1 AND (ends_at_ms IS NULL OR ends_at_ms > $2) ` +
        'ORDER BY created_at_ms DESC, id',
      [account, Date.now()],
    );
    return rows.map((row) => ({ ...secretOf(row), text: row.secret }));
  }

  /** Of all accounts, also ended ones. */
  async list(): Promise<WebhookSecret[]> {
    const rows = await this.#database.query<SecretRow>(
      `SELECT ${columns} FROM webhook_secrets ORDER BY account, created_at_ms, id`,
    );
    return rows.map(secretOf);
  }

  /** @returns it, or undefined if there is none with this id */
  remove(
    id: string,
    beforeCommit: (secret: WebhookSecret) => Promise<void> = async () => {},
  ): Promise<WebhookSecret | undefined> {
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.query<SecretRow>(
        `DELETE FROM webhook_secrets WHERE id = $1 RETURNING ${columns}`,
        [id],
      );
      if (row === undefined) return undefined;
      const removed = secretOf(row);
      await beforeCommit(removed);
      return removed;
    });
  }
}

const secretOf = ({ id, account, created_at_ms, ends_at_ms }: SecretRow): WebhookSecret => ({
  id,
  account,
  createdAtMs: created_at_ms,
  endsAtMs: ends_at_ms ?? undefined,
});
