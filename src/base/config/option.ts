// SPDX-License-Identifier: Apache-2.0
import { OPERATING_POINT_NAME } from '../contract/operating-point-name.js';
import { exampleOf, isUnit, parseQuantity } from './quantity.js';

/** The facts that defaults depend on. */
export interface Surroundings {
  /** Cores that this process may use: its share, if it is one of several, which need not be a whole number. */
  readonly cores: number;
  /** The folder of the package's own files, such as `models`. */
  readonly packageDir: string;
  /** The data folder of an installed program, by the XDG base directories. */
  readonly stateDir: string;
}

/** One setting: how it is named, read and documented. */
export interface Option<Value> {
  readonly variable: string;
  /** The accepted values, for error messages and the documentation. */
  readonly accepts: string;
  /** The form of a number with a unit, such as `10s`; undefined if only plain numbers are accepted. */
  readonly example?: string;
  /** The default as the documentation shows it. */
  readonly defaultText: string;
  /** One or two sentences, with the consequence of a change. */
  readonly description: string;
  /** Never repeated to anybody. */
  readonly isSecret?: boolean;
  default(surroundings: Surroundings): Value;
  /** The default if a GPU runs the models and it differs. */
  defaultOnGpu?(surroundings: Surroundings): Value;
  /** Undefined for a text that is not accepted. */
  parse(text: string): Value | undefined;
  /** The part of a text that is not accepted, for people; default all of it. */
  wrongPart?(text: string): string;
}

export const MEBIBYTE = 1024 * 1024;

interface Common {
  readonly variable: string;
  readonly description: string;
}

interface IntegerSettings extends Common {
  readonly default: number | ((surroundings: Surroundings) => number);
  /** Required if the default is a function. */
  readonly defaultText?: string;
  readonly defaultOnGpu?: (surroundings: Surroundings) => number;
  readonly minimum: number;
  readonly maximum: number;
  readonly unit?: string;
}

export function integer(settings: IntegerSettings): Option<number> {
  const { variable, description, minimum, maximum, default: preset } = settings;
  const { unit, defaultOnGpu } = settings;
  const knownUnit = isUnit(unit) ? unit : undefined;
  return {
    variable,
    description,
    ...(knownUnit !== undefined && { example: exampleOf(knownUnit) }),
    ...(defaultOnGpu && { defaultOnGpu }),
    accepts: `an integer from ${minimum} to ${maximum}${unit === undefined ? '' : ` (${unit})`}`,
    defaultText: settings.defaultText ?? (unit === 'bytes' ? inMebibytes(Number(preset)) : String(preset)),
    default: (surroundings) => (typeof preset === 'number' ? preset : preset(surroundings)),
    parse: (text) => {
      const value = parseQuantity(text, knownUnit);
      return value !== undefined && value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

function inMebibytes(bytes: number): string {
  return `${bytes} (${bytes / MEBIBYTE} MiB)`;
}

interface ChoiceSettings<Value extends string> extends Common {
  readonly choices: readonly Value[];
  readonly default: Value;
}

export function choice<const Value extends string>(settings: ChoiceSettings<Value>): Option<Value> {
  const { variable, description, choices, default: preset } = settings;
  return {
    variable,
    description,
    accepts: `one of ${choices.join(', ')}`,
    defaultText: preset,
    default: () => preset,
    parse: (text) => choices.find((candidate) => candidate === text),
  };
}

interface TextSettings extends Common {
  /** In words, such as `a host name or an address`. */
  readonly accepts: string;
  /** Left out, any text is accepted. */
  readonly isAccepted?: (text: string) => boolean;
  readonly default: string | ((surroundings: Surroundings) => string);
  readonly defaultText?: string;
  /** Applied to a given text. */
  readonly resolve?: (text: string) => string;
}

export function text(settings: TextSettings): Option<string> {
  const { variable, description, accepts, default: preset } = settings;
  const { isAccepted = () => true, resolve = (value: string) => value } = settings;
  return {
    variable,
    description,
    accepts,
    defaultText: settings.defaultText ?? String(preset),
    default: (surroundings) => (typeof preset === 'string' ? preset : preset(surroundings)),
    parse: (value) => (isAccepted(value) ? resolve(value) : undefined),
  };
}

interface ThresholdSettings extends Common {
  /** The default in words; it is decided elsewhere. */
  readonly defaultText: string;
}

/** A number from 0 to 1 or the name of an operating point; undefined if not set. */
export function threshold(settings: ThresholdSettings): Option<number | string | undefined> {
  const { variable, description, defaultText } = settings;
  return {
    variable,
    description,
    accepts: 'a number from 0 to 1 or the name of an operating point',
    defaultText,
    default: () => undefined,
    parse: (text) => {
      if (OPERATING_POINT_NAME.test(text)) return text;
      const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
      return value >= 0 && value <= 1 ? value : undefined;
    },
  };
}

interface ListSettings<Item> extends Common {
  /** One item, in words. */
  readonly accepts: string;
  /** Undefined if the text is not an item. */
  readonly parseItem: (text: string) => Item | undefined;
}

/** Items with commas between them; none by default. */
export function list<Item>({
  variable,
  description,
  accepts,
  parseItem,
}: ListSettings<Item>): Option<readonly Item[]> {
  const entriesOf = (text: string): string[] =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((entry) => entry !== '');
  return {
    variable,
    description,
    accepts: `${accepts}, separated by commas`,
    defaultText: 'none',
    default: () => [],
    wrongPart(text) {
      const entries = entriesOf(text);
      const at = entries.findIndex((entry) => parseItem(entry) === undefined);
      return entries.length === 1 ? text : `${entries[at]} (entry ${at + 1} of ${entries.length})`;
    },
    parse: (text) => {
      const items: Item[] = [];
      for (const entry of entriesOf(text)) {
        const item = parseItem(entry);
        if (item === undefined) return undefined;
        items.push(item);
      }
      return items;
    },
  };
}

interface OptionalSettings<Value> extends Common {
  readonly accepts: string;
  /** The default in words. */
  readonly defaultText: string;
  /** Undefined for a text that is not accepted. */
  readonly parseValue: (text: string) => Value | undefined;
}

/** Undefined if not set. */
export function optional<Value>(settings: OptionalSettings<Value>): Option<Value | undefined> {
  const { variable, description, accepts, defaultText, parseValue } = settings;
  return { variable, description, accepts, defaultText, default: () => undefined, parse: parseValue };
}

interface OriginSettings extends Common {
  /** The default in words. */
  readonly defaultText: string;
}

/** A URL without query, user and trailing slash; empty if not set. */
export function address(settings: OriginSettings): Option<string> {
  return {
    ...settings,
    accepts: 'an http or https URL, with a path or not',
    default: () => '',
    parse: (value) => {
      if (value === '') return '';
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
      const { origin, pathname, href } = url;
      // No form that proxies read differently.
      const isPlain = `${origin}${pathname}` === href && /^(\/[\w.~-]+)*\/?$/.test(pathname);
      return isPlain ? `${origin}${pathname.replace(/\/$/, '')}` : undefined;
    },
  };
}

/** Scheme, host and port of a URL, without a trailing slash; empty if not set. */
export function origin(settings: OriginSettings): Option<string> {
  return {
    ...settings,
    accepts: 'an http or https URL without a path',
    default: () => '',
    parse: (value) => {
      if (value === '') return '';
      const url = URL.canParse(value) ? new URL(value) : undefined;
      const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
      return isOrigin ? url.origin : undefined;
    },
  };
}
