/**
 * Benchmarks, in rooms by what they measure, and what they share; {@code ops/bench} runs them beside their peers on the same files.
 */
@NullMarked
package dev.larder.bench;

import org.jspecify.annotations.NullMarked;
