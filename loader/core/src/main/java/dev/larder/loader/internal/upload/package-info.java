/** Brings gathered batches to devices: device slots, their ring and its two threads, arrays that stay on a device. */
@NullMarked
package dev.larder.loader.internal.upload;

import org.jspecify.annotations.NullMarked;
