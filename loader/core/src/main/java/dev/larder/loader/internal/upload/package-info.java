/** Uploads gathered batches to devices: device slots, their ring and its two threads, and arrays that stay on a device. */
@NullMarked
package dev.larder.loader.internal.upload;

import org.jspecify.annotations.NullMarked;
