// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from src/evaluation/figures/report-schema.ts. Do not edit.
import type { Rule } from './rules.js';

export interface Report {
  schema_version: 2;
  veravox_version: string;
  created_at: string;
  task: 'detection' | 'verification';
  classes: {
    positive: string;
    negative: string;
  };
  list: {
    file: string;
    sha256: string;
    where: string[];
    rows: number;
  };
  model: {
    id: string;
    sha256: string;
    fingerprint: string;
  };
  threshold_name: string | null;
  silence_threshold: number | null;
  bootstrap: {
    rounds: number;
    seed: number;
  };
  run: {
    provider: string;
    files: number;
    audio_s: number;
    elapsed_s: number;
  } | null;
  counts: {
    positive: number;
    negative: number;
    failed: number;
    positive_units: number;
    negative_units: number;
  };
  failures: {
    code: string;
    positive: number;
    negative: number;
    files: {
      name: string;
      message: string;
    }[];
  }[];
  overall: {
    eer: {
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
      threshold: number;
    } | null;
    auc: {
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
    } | null;
    eer_groups_alike: {
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
    } | null;
    auc_groups_alike: {
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
    } | null;
    groups_alike_why_not: string | null;
    min_dcf:
      | {
          value: number;
          /**
           * @minItems 2
           * @maxItems 2
           */
          interval_95: [number, number];
          name: string;
          c_miss: number;
          c_fa: number;
          prior: number;
        }[]
      | null;
  };
  at_threshold: {
    threshold: number;
    accuracy: {
      count: number;
      of: number;
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
    };
    fpr: {
      count: number;
      of: number;
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95_units: [number, number];
    } | null;
    fnr: {
      count: number;
      of: number;
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95_units: [number, number];
    } | null;
  };
  thresholds: {
    threshold: number;
    target_fpr: number | null;
    fpr: {
      count: number;
      of: number;
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
      interval_95_units: [number, number] | null;
    };
    fnr: {
      count: number;
      of: number;
      value: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
      interval_95_units: [number, number] | null;
    };
  }[];
  thresholds_not_given: {
    targets: {
      target_fpr: number;
      why_not: string;
    }[];
    fpr_intervals_why_not: string | null;
    fnr_intervals_why_not: string | null;
  };
  most_wrong: {
    name: string;
    label: string;
    score: number;
    distance: number;
    confidence: number | null;
    reason: string | null;
    system: string | null;
    source: string | null;
  }[];
  comparison: {
    id: string;
    fingerprint: string;
    threshold: number;
    compared: number;
    left_out: number;
    why_no_intervals: string | null;
    eer: {
      model: number;
      other: number;
      value: number;
      interval_95: [number, number] | null;
    } | null;
    auc: {
      model: number;
      other: number;
      value: number;
      interval_95: [number, number] | null;
    } | null;
    fpr: {
      model: number;
      other: number;
      value: number;
      interval_95: [number, number] | null;
    } | null;
    fnr: {
      model: number;
      other: number;
      value: number;
      interval_95: [number, number] | null;
    } | null;
    mcnemar: {
      all: {
        only_model: number;
        only_other: number;
        p_value: number;
      };
      positive: {
        only_model: number;
        only_other: number;
        p_value: number;
      };
      negative: {
        only_model: number;
        only_other: number;
        p_value: number;
      };
    };
  } | null;
  inside_one_source: {
    value: number | null;
    interval_95: [number, number] | null;
    why_not: string | null;
    sources: {
      source: string;
      positive: number;
      negative: number;
      auc: number;
    }[];
  } | null;
  calibration: {
    expected_calibration_error: number;
    brier: number;
    log_loss: number;
    bins: {
      from: number;
      to: number;
      count: number;
      mean_score: number;
      positive_share: number;
      /**
       * @minItems 2
       * @maxItems 2
       */
      interval_95: [number, number];
    }[];
  };
  groups: {
    column: string;
    value: string;
    positive: {
      count: number;
      mean_score: number;
      errors: {
        count: number;
        of: number;
        value: number;
        /**
         * @minItems 2
         * @maxItems 2
         */
        interval_95: [number, number];
      };
      eer: number | null;
      auc: number | null;
    } | null;
    negative: {
      count: number;
      mean_score: number;
      errors: {
        count: number;
        of: number;
        value: number;
        /**
         * @minItems 2
         * @maxItems 2
         */
        interval_95: [number, number];
      };
      eer: number | null;
      auc: number | null;
    } | null;
    within: {
      eer: number;
      auc: number;
    } | null;
  }[];
  histogram: {
    positive: number[];
    negative: number[];
  };
  curve: {
    threshold: number;
    fpr: number;
    fnr: number;
  }[];
}

// biome-ignore format: one line per report format is enough
export const reportRules: Rule = {"type":"object","required":["schema_version","veravox_version","created_at","task","classes","list","model","threshold_name","silence_threshold","bootstrap","run","counts","failures","overall","at_threshold","thresholds","thresholds_not_given","most_wrong","comparison","inside_one_source","calibration","groups","histogram","curve"],"properties":{"schema_version":{"const":2},"veravox_version":{"type":"string"},"created_at":{"type":"string"},"task":{"enum":["detection","verification"]},"classes":{"type":"object","required":["positive","negative"],"properties":{"positive":{"type":"string"},"negative":{"type":"string"}}},"list":{"type":"object","required":["file","sha256","where","rows"],"properties":{"file":{"type":"string"},"sha256":{"type":"string"},"where":{"type":"array","items":{"type":"string"}},"rows":{"type":"integer","minimum":0}}},"model":{"type":"object","required":["id","sha256","fingerprint"],"properties":{"id":{"type":"string"},"sha256":{"type":"string"},"fingerprint":{"type":"string"}}},"threshold_name":{"anyOf":[{"type":"string"},{"type":"null"}]},"silence_threshold":{"anyOf":[{"type":"number"},{"type":"null"}]},"bootstrap":{"type":"object","required":["rounds","seed"],"properties":{"rounds":{"type":"integer","minimum":0},"seed":{"type":"integer","minimum":0}}},"run":{"anyOf":[{"type":"object","required":["provider","files","audio_s","elapsed_s"],"properties":{"provider":{"type":"string"},"files":{"type":"integer","minimum":0},"audio_s":{"type":"number"},"elapsed_s":{"type":"number"}}},{"type":"null"}]},"counts":{"type":"object","required":["positive","negative","failed","positive_units","negative_units"],"properties":{"positive":{"type":"integer","minimum":0},"negative":{"type":"integer","minimum":0},"failed":{"type":"integer","minimum":0},"positive_units":{"type":"integer","minimum":0},"negative_units":{"type":"integer","minimum":0}}},"failures":{"type":"array","items":{"type":"object","required":["code","positive","negative","files"],"properties":{"code":{"type":"string"},"positive":{"type":"integer","minimum":0},"negative":{"type":"integer","minimum":0},"files":{"type":"array","items":{"type":"object","required":["name","message"],"properties":{"name":{"type":"string"},"message":{"type":"string"}}}}}}},"overall":{"type":"object","required":["eer","auc","eer_groups_alike","auc_groups_alike","groups_alike_why_not","min_dcf"],"properties":{"eer":{"anyOf":[{"type":"object","required":["value","interval_95","threshold"],"properties":{"value":{"type":"number"},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"threshold":{"type":"number","minimum":0,"maximum":1}}},{"type":"null"}]},"auc":{"anyOf":[{"type":"object","required":["value","interval_95"],"properties":{"value":{"type":"number"},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},{"type":"null"}]},"eer_groups_alike":{"anyOf":[{"type":"object","required":["value","interval_95"],"properties":{"value":{"type":"number"},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},{"type":"null"}]},"auc_groups_alike":{"anyOf":[{"type":"object","required":["value","interval_95"],"properties":{"value":{"type":"number"},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},{"type":"null"}]},"groups_alike_why_not":{"anyOf":[{"type":"string"},{"type":"null"}]},"min_dcf":{"anyOf":[{"type":"array","items":{"type":"object","required":["value","interval_95","name","c_miss","c_fa","prior"],"properties":{"value":{"type":"number"},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"name":{"type":"string"},"c_miss":{"type":"number"},"c_fa":{"type":"number"},"prior":{"type":"number","minimum":0,"maximum":1}}}},{"type":"null"}]}}},"at_threshold":{"type":"object","required":["threshold","accuracy","fpr","fnr"],"properties":{"threshold":{"type":"number","minimum":0,"maximum":1},"accuracy":{"type":"object","required":["count","of","value","interval_95"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},"fpr":{"anyOf":[{"type":"object","required":["count","of","value","interval_95","interval_95_units"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"interval_95_units":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},{"type":"null"}]},"fnr":{"anyOf":[{"type":"object","required":["count","of","value","interval_95","interval_95_units"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"interval_95_units":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},{"type":"null"}]}}},"thresholds":{"type":"array","items":{"type":"object","required":["threshold","target_fpr","fpr","fnr"],"properties":{"threshold":{"type":"number","minimum":0,"maximum":1},"target_fpr":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]},"fpr":{"type":"object","required":["count","of","value","interval_95","interval_95_units"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"interval_95_units":{"anyOf":[{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}},"fnr":{"type":"object","required":["count","of","value","interval_95","interval_95_units"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},"interval_95_units":{"anyOf":[{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}}}}},"thresholds_not_given":{"type":"object","required":["targets","fpr_intervals_why_not","fnr_intervals_why_not"],"properties":{"targets":{"type":"array","items":{"type":"object","required":["target_fpr","why_not"],"properties":{"target_fpr":{"type":"number","minimum":0,"maximum":1},"why_not":{"type":"string"}}}},"fpr_intervals_why_not":{"anyOf":[{"type":"string"},{"type":"null"}]},"fnr_intervals_why_not":{"anyOf":[{"type":"string"},{"type":"null"}]}}},"most_wrong":{"type":"array","items":{"type":"object","required":["name","label","score","distance","confidence","reason","system","source"],"properties":{"name":{"type":"string"},"label":{"type":"string"},"score":{"type":"number","minimum":0,"maximum":1},"distance":{"type":"number","minimum":0,"maximum":1},"confidence":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]},"reason":{"anyOf":[{"type":"string"},{"type":"null"}]},"system":{"anyOf":[{"type":"string"},{"type":"null"}]},"source":{"anyOf":[{"type":"string"},{"type":"null"}]}}}},"comparison":{"anyOf":[{"type":"object","required":["id","fingerprint","threshold","compared","left_out","why_no_intervals","eer","auc","fpr","fnr","mcnemar"],"properties":{"id":{"type":"string"},"fingerprint":{"type":"string"},"threshold":{"type":"number","minimum":0,"maximum":1},"compared":{"type":"integer","minimum":0},"left_out":{"type":"integer","minimum":0},"why_no_intervals":{"anyOf":[{"type":"string"},{"type":"null"}]},"eer":{"anyOf":[{"type":"object","required":["model","other","value","interval_95"],"properties":{"model":{"type":"number","minimum":0,"maximum":1},"other":{"type":"number","minimum":0,"maximum":1},"value":{"type":"number"},"interval_95":{"anyOf":[{"type":"array","items":{"type":"number","minimum":-1,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}},{"type":"null"}]},"auc":{"anyOf":[{"type":"object","required":["model","other","value","interval_95"],"properties":{"model":{"type":"number","minimum":0,"maximum":1},"other":{"type":"number","minimum":0,"maximum":1},"value":{"type":"number"},"interval_95":{"anyOf":[{"type":"array","items":{"type":"number","minimum":-1,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}},{"type":"null"}]},"fpr":{"anyOf":[{"type":"object","required":["model","other","value","interval_95"],"properties":{"model":{"type":"number","minimum":0,"maximum":1},"other":{"type":"number","minimum":0,"maximum":1},"value":{"type":"number"},"interval_95":{"anyOf":[{"type":"array","items":{"type":"number","minimum":-1,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}},{"type":"null"}]},"fnr":{"anyOf":[{"type":"object","required":["model","other","value","interval_95"],"properties":{"model":{"type":"number","minimum":0,"maximum":1},"other":{"type":"number","minimum":0,"maximum":1},"value":{"type":"number"},"interval_95":{"anyOf":[{"type":"array","items":{"type":"number","minimum":-1,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]}}},{"type":"null"}]},"mcnemar":{"type":"object","required":["all","positive","negative"],"properties":{"all":{"type":"object","required":["only_model","only_other","p_value"],"properties":{"only_model":{"type":"integer","minimum":0},"only_other":{"type":"integer","minimum":0},"p_value":{"type":"number","minimum":0,"maximum":1}}},"positive":{"type":"object","required":["only_model","only_other","p_value"],"properties":{"only_model":{"type":"integer","minimum":0},"only_other":{"type":"integer","minimum":0},"p_value":{"type":"number","minimum":0,"maximum":1}}},"negative":{"type":"object","required":["only_model","only_other","p_value"],"properties":{"only_model":{"type":"integer","minimum":0},"only_other":{"type":"integer","minimum":0},"p_value":{"type":"number","minimum":0,"maximum":1}}}}}}},{"type":"null"}]},"inside_one_source":{"anyOf":[{"type":"object","required":["value","interval_95","why_not","sources"],"properties":{"value":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]},"interval_95":{"anyOf":[{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2},{"type":"null"}]},"why_not":{"anyOf":[{"type":"string"},{"type":"null"}]},"sources":{"type":"array","items":{"type":"object","required":["source","positive","negative","auc"],"properties":{"source":{"type":"string"},"positive":{"type":"integer","minimum":0},"negative":{"type":"integer","minimum":0},"auc":{"type":"number","minimum":0,"maximum":1}}}}}},{"type":"null"}]},"calibration":{"type":"object","required":["expected_calibration_error","brier","log_loss","bins"],"properties":{"expected_calibration_error":{"type":"number","minimum":0,"maximum":1},"brier":{"type":"number","minimum":0,"maximum":1},"log_loss":{"type":"number"},"bins":{"type":"array","items":{"type":"object","required":["from","to","count","mean_score","positive_share","interval_95"],"properties":{"from":{"type":"number","minimum":0,"maximum":1},"to":{"type":"number","minimum":0,"maximum":1},"count":{"type":"integer","minimum":0},"mean_score":{"type":"number","minimum":0,"maximum":1},"positive_share":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}}}}},"groups":{"type":"array","items":{"type":"object","required":["column","value","positive","negative","within"],"properties":{"column":{"type":"string"},"value":{"type":"string"},"positive":{"anyOf":[{"type":"object","required":["count","mean_score","errors","eer","auc"],"properties":{"count":{"type":"integer","minimum":0},"mean_score":{"type":"number","minimum":0,"maximum":1},"errors":{"type":"object","required":["count","of","value","interval_95"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},"eer":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]},"auc":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]}}},{"type":"null"}]},"negative":{"anyOf":[{"type":"object","required":["count","mean_score","errors","eer","auc"],"properties":{"count":{"type":"integer","minimum":0},"mean_score":{"type":"number","minimum":0,"maximum":1},"errors":{"type":"object","required":["count","of","value","interval_95"],"properties":{"count":{"type":"integer","minimum":0},"of":{"type":"integer","minimum":0},"value":{"type":"number","minimum":0,"maximum":1},"interval_95":{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":2,"maxItems":2}}},"eer":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]},"auc":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]}}},{"type":"null"}]},"within":{"anyOf":[{"type":"object","required":["eer","auc"],"properties":{"eer":{"type":"number","minimum":0,"maximum":1},"auc":{"type":"number","minimum":0,"maximum":1}}},{"type":"null"}]}}}},"histogram":{"type":"object","required":["positive","negative"],"properties":{"positive":{"type":"array","items":{"type":"integer"}},"negative":{"type":"array","items":{"type":"integer"}}}},"curve":{"type":"array","items":{"type":"object","required":["threshold","fpr","fnr"],"properties":{"threshold":{"type":"number","minimum":0,"maximum":1},"fpr":{"type":"number","minimum":0,"maximum":1},"fnr":{"type":"number","minimum":0,"maximum":1}}}}}};
