/**
 * Passes the batches of a Larder loader to DJL's training loops: start at {@link dev.larder.djl.LarderDataset}, or for batches on a
 * device, at {@link dev.larder.djl.DeviceDataset}.
 */
@NullMarked
package dev.larder.djl;

import org.jspecify.annotations.NullMarked;
