// SPDX-License-Identifier: Apache-2.0
//
// A family for people; training/imported/families.py has its networks.

export interface Family {
  readonly description: string;
  /** Of the published checkpoints, as far as it is known; goes into the manifest unless --licence says otherwise. */
  readonly licence: string;
  readonly paper: string;
}

export const families: Readonly<Record<string, Family>> = {
  'xlsr-aasist': {
    description: 'XLS-R with AASIST',
    licence: 'check the licence of the checkpoint (its repository: MIT)',
    paper: 'Tak et al., Odyssey 2022, arXiv:2202.12233',
  },
  'xlsr-sls': {
    description: 'XLS-R with SLS',
    licence: 'check the licence of the checkpoint (its repository states none)',
    paper: 'Zhang, Wen and Hu, ACM MM 2024, doi:10.1145/3664647.3681345',
  },
  'xlsr-nes2net': {
    description: 'XLS-R with Nes2Net-X',
    licence: 'check the licence of the checkpoint (its repository states none)',
    paper: 'Liu et al., 2025, arXiv:2504.05657',
  },
  'nii-antideepfake': {
    description: "NII's AntiDeepfake: wav2vec 2.0, MMS or XLS-R with a mean over time",
    licence: 'CC-BY-NC-SA-4.0',
    paper: 'Ge et al., 2025, "Post-training for deepfake speech detection"',
  },
  'wavlm-mhfa': {
    description: 'WavLM with multi-head factorised attentive pooling, as WeDefense trains it',
    licence: 'check the licence of the checkpoint (the code of WeDefense: Apache-2.0)',
    paper: 'Peng et al., SLT 2022, arXiv:2210.01273; Zhang et al., arXiv:2601.15240',
  },
};
