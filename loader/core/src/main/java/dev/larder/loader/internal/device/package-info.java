/** The interfaces between a loader and its devices, and the parts that backends of native libraries share. For modules of Larder. */
@NullMarked
package dev.larder.loader.internal.device;

import org.jspecify.annotations.NullMarked;
