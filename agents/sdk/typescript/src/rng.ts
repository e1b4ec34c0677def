/** SplitMix64: random numbers that follow from a seed, the same as in all kits and SDKs of Arena. */
export class Rng {
  // A word of 64 bits is two halves, because numbers are exact only to 2^53, and BigInt is slow.
  private high: number;
  private low: number;
  // The halves of the last word.
  private upper = 0;
  private lower = 0;

  /** `seed` is a number of 64 bits, or its halves. */
  constructor(seed: bigint | { high: number; low: number }) {
    const isHalves = typeof seed === "object";
    this.high = isHalves ? seed.high >>> 0 : Number((seed >> 32n) & 0xffffffffn);
    this.low = isHalves ? seed.low >>> 0 : Number(seed & 0xffffffffn);
  }

  /** A whole number from 0 to 2^64 - 1. */
  word(): bigint {
    this.next();
    return (BigInt(this.upper) << 32n) | BigInt(this.lower);
  }

  /** A whole number from 0 to bound - 1; bound is 1 to 2^20. */
  below(bound: number): number {
    this.next();
    return Math.floor((this.upper * bound + Math.floor((this.lower * bound) / 2 ** 32)) / 2 ** 32);
  }

  /** A real number in [0, 1). */
  random(): number {
    this.next();
    return (this.upper * 2 ** 21 + (this.lower >>> 11)) / 2 ** 53;
  }

  /** One of the items. */
  choice<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }

  /** Puts a list into a random order. */
  shuffle<T>(items: T[]): void {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [items[last], items[other]] = [items[other], items[last]];
    }
  }

  private next(): void {
    const low = this.low + 0x7f4a7c15;
    this.high = (this.high + 0x9e3779b9 + (low > 0xffffffff ? 1 : 0)) >>> 0;
    this.low = low >>> 0;
    this.upper = this.high;
    this.lower = this.low;
    this.mix(30);
    this.multiply(0xbf58476d, 0x1ce4e5b9);
    this.mix(27);
    this.multiply(0x94d049bb, 0x133111eb);
    this.mix(31);
  }

  // word ^= word >> bits
  private mix(bits: number): void {
    this.lower = (this.lower ^ ((this.lower >>> bits) | (this.upper << (32 - bits)))) >>> 0;
    this.upper = (this.upper ^ (this.upper >>> bits)) >>> 0;
  }

  // word *= high * 2^32 + low
  private multiply(high: number, low: number): void {
    const [a, b] = [this.lower & 0xffff, this.lower >>> 16];
    const [c, d] = [low & 0xffff, low >>> 16];
    const middle = b * c + Math.floor((a * c) / 65536);
    const other = a * d + (middle & 0xffff);
    const carry = b * d + Math.floor(middle / 65536) + Math.floor(other / 65536);
    this.upper = (carry + Math.imul(this.upper, low) + Math.imul(this.lower, high)) >>> 0;
    this.lower = Math.imul(this.lower, low) >>> 0;
  }
}
