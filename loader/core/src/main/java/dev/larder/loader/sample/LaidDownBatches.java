package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;

/** A batch sampler that computes its whole order first. Keeps an internal type out of the signatures of public samplers. */
interface LaidDownBatches extends BatchSampler, LaidDown {}
