// SPDX-License-Identifier: Apache-2.0
import { VeravoxError } from 'veravox-client';
import { nextStepAfter } from '../logic/next-steps.js';

interface ProblemProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** The server's message about a failure, and the next step. */
export function Problem({ error, onRetry }: ProblemProps) {
  const refusal = error instanceof VeravoxError ? error : undefined;
  const next = nextStepAfter(refusal?.errorKey);
  // The reader can mend a refused request; with the id, the operator finds a failure in the log.
  const isFailure = refusal !== undefined && refusal.status >= 500;
  const isFinal = refusal?.status === 404;
  return (
    <div class="notice problem" role="alert">
      <p>
        {messageOf(error)}
        {next !== undefined && ` ${next}`}
      </p>
      {isFailure && refusal.correlationId !== undefined && (
        <p class="soft">
          If it happens again, give the operator this correlation id: <code>{refusal.correlationId}</code>
        </p>
      )}
      {onRetry && !isFinal && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function messageOf(error: unknown): string {
  if (error instanceof TypeError) return 'The server cannot be reached. Check the network, then try again.';
  return error instanceof Error ? error.message : String(error);
}
