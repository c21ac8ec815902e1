/** The interfaces between a loader and its devices, and the code that native backends share. For Larder's modules only. */
@NullMarked
package dev.larder.loader.internal.device;

import org.jspecify.annotations.NullMarked;
