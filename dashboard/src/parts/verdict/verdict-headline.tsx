// SPDX-License-Identifier: Apache-2.0
import type { Conclusion } from '../../logic/conclusion.js';

interface VerdictHeadlineProps {
  readonly conclusion: Conclusion;
  /** As the API has it. */
  readonly result: string;
  readonly reason: string | null | undefined;
}

/** The meaning of the verdict in large words, and the API's name for it in small ones. */
export const VerdictHeadline = ({
  conclusion: { look, word, rest },
  result,
  reason,
}: VerdictHeadlineProps) => (
  <>
    <p class="global" aria-live="polite">
      <span class={`verdict ${look}`}>{word}</span> {rest}
    </p>
    <p class="soft in-api">
      In the API: <code>{result}</code>
      {reason != null && (
        <>
          , reason <code>{reason}</code>
        </>
      )}
    </p>
  </>
);
