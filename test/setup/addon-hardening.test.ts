// SPDX-License-Identifier: Apache-2.0
//
// The addon decodes files from strangers. The file itself shows how it was built.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';

// Numbers of the ELF format: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_GNU_STACK = 0x6474e551;
const PT_GNU_RELRO = 0x6474e552;
const PF_X = 1;
const DT_BIND_NOW = 24;
const DT_FLAGS = 30;
const DF_BIND_NOW = 8;
const DT_FLAGS_1 = 0x6ffffffb;
const DF_1_NOW = 1;
const SHT_DYNSYM = 11;
const EM_X86_64 = 62;
const ENDBR64 = 'f30f1efa';

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
}

/** Requirements for a 64-bit little-endian file. */
class ElfFile {
  readonly machine: number;
  readonly segments: readonly Segment[];
  /** Dynamic symbols with their addresses; 0 for those from other libraries. */
  readonly symbols: ReadonlyMap<string, number>;
  readonly #file: Buffer;

  constructor(file: Buffer) {
    assert.equal(file.toString('latin1', 0, 6), '\x7fELF\x02\x01');
    this.#file = file;
    this.machine = file.readUInt16LE(18);
    this.segments = this.#table(32, 54, 56).map((at) => ({
      type: file.readUInt32LE(at),
      flags: file.readUInt32LE(at + 4),
      offset: this.#number(at + 8),
      address: this.#number(at + 16),
      bytes: this.#number(at + 32),
    }));
    const sections = this.#table(40, 58, 60);
    const at = sections.find((section) => file.readUInt32LE(section + 4) === SHT_DYNSYM) ?? assert.fail();
    const names = this.#number((sections[file.readUInt32LE(at + 40)] ?? assert.fail()) + 24);
    const [offset, bytes] = [this.#number(at + 24), this.#number(at + 32)];
    this.symbols = new Map(
      Array.from({ length: bytes / 24 }, (_, i) => {
        const symbol = offset + 24 * i;
        const name = names + file.readUInt32LE(symbol);
        return [file.toString('latin1', name, file.indexOf(0, name)), this.#number(symbol + 8)];
      }),
    );
  }

  segment(type: number): Segment | undefined {
    return this.segments.find((segment) => segment.type === type);
  }

  /** The value of an entry of the dynamic section; undefined if there is none. */
  dynamic(tag: number): number | undefined {
    const { offset, bytes } = this.segment(PT_DYNAMIC) ?? assert.fail('it is linked dynamically');
    for (let at = offset; at < offset + bytes; at += 16)
      if (this.#number(at) === tag) return this.#number(at + 8);
    return undefined;
  }

  /** The first bytes of a function, in hexadecimal. */
  codeOf(symbol: string, bytes: number): string {
    const address = this.symbols.get(symbol) ?? assert.fail(symbol);
    const segment = this.segments.findLast((each) => each.type === PT_LOAD && each.address <= address);
    const at = address - (segment?.address ?? 0) + (segment?.offset ?? 0);
    return this.#file.toString('hex', at, at + bytes);
  }

  #number(at: number): number {
    return Number(this.#file.readBigUInt64LE(at));
  }

  #table(offsetAt: number, sizeAt: number, countAt: number): number[] {
    const [offset, size] = [this.#number(offsetAt), this.#file.readUInt16LE(sizeAt)];
    return Array.from({ length: this.#file.readUInt16LE(countAt) }, (_, i) => offset + size * i);
  }
}

const buildDir = path.join(packageDir, 'build/addon');
const addon = new ElfFile(fs.readFileSync(path.join(buildDir, 'Release/veravox.node')));

test('tables of addresses are resolved at the start, and read-only from then on', () => {
  assert.ok(addon.segment(PT_GNU_RELRO));
  const isNow =
    addon.dynamic(DT_BIND_NOW) !== undefined ||
    ((addon.dynamic(DT_FLAGS) ?? 0) & DF_BIND_NOW) !== 0 ||
    ((addon.dynamic(DT_FLAGS_1) ?? 0) & DF_1_NOW) !== 0;
  assert.ok(isNow);
});

test('no stack is executable', () => {
  const { flags } = addon.segment(PT_GNU_STACK) ?? assert.fail('it says so itself');
  assert.equal(flags & PF_X, 0);
});

test('stacks have a guard, and containers check their bounds', () => {
  assert.ok(addon.symbols.has('__stack_chk_fail'));
  assert.ok([...addon.symbols.keys()].some((name) => name.includes('__glibcxx_assert_fail')));
});

test('jumps land at the beginnings of functions only', { skip: addon.machine !== EM_X86_64 }, () => {
  assert.equal(addon.codeOf('napi_register_module_v1', 4), ENDBR64);
});

// The file shows that some of its parts have a guard, not that all have. Checked functions of the C library are called only if
// the compiler knows a size that it cannot prove: there may be none.
test('every source file is compiled with all protections', () => {
  const commands: readonly { readonly command: string; readonly file: string }[] = JSON.parse(
    fs.readFileSync(path.join(buildDir, 'compile_commands.json'), 'utf8'),
  );
  assert.ok(commands.length > 20);
  const options = [
    /-D_FORTIFY_SOURCE=[23] /,
    /-fstack-protector-strong /,
    /-D_GLIBCXX_ASSERTIONS /,
    addon.machine === EM_X86_64 ? /-fcf-protection / : /-mbranch-protection=standard /,
  ];
  for (const { command, file } of commands) {
    for (const option of options) assert.match(command, option, file);
    assert.doesNotMatch(
      command,
      /-fno-stack-protector|-fcf-protection=none|-U_FORTIFY_SOURCE(?!.*-D_FORTIFY_SOURCE)/,
      file,
    );
    // Loops over numbers whose count is the test's own.
    if (!/native\/(features|resample|vad)\//.test(file))
      assert.doesNotMatch(command, /-U_GLIBCXX_ASSERTIONS/, file);
  }
});
