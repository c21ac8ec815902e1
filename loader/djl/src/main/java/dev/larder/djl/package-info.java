/**
 * Hands the batches of a Larder loader to DJL's own training loops: start at {@link dev.larder.djl.LarderDataset}, or where batches
 * are made on a device, at {@link dev.larder.djl.DeviceDataset}.
 */
@NullMarked
package dev.larder.djl;

import org.jspecify.annotations.NullMarked;
