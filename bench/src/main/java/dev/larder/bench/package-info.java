/**
 * Benchmarks, one package for each subject, and their shared code; {@code ops/bench} runs them with their peers on the same files.
 */
@NullMarked
package dev.larder.bench;

import org.jspecify.annotations.NullMarked;
