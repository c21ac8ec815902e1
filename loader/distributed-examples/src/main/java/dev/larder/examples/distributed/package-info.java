/**
 * Multi-process programs, each started by {@code larder launch}: {@link dev.larder.examples.distributed.DataParallelTrainer},
 * {@link dev.larder.examples.distributed.HogwildTrainer}, {@link dev.larder.examples.distributed.HandlePipeline} and
 * {@link dev.larder.examples.distributed.BucketSteps}.
 */
@NullMarked
package dev.larder.examples.distributed;

import org.jspecify.annotations.NullMarked;
