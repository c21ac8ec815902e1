package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;

/** Batches that are laid down before the first can be asked for: keeps what is internal out of the signatures of public samplers. */
interface LaidDownBatches extends BatchSampler, LaidDown {}
