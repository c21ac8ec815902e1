/** Trainers that show how to learn from the cache: start at {@link dev.larder.examples.SoftmaxTrainer}. */
@NullMarked
package dev.larder.examples;

import org.jspecify.annotations.NullMarked;
