/** Counters of the kernel, and the port of rank 0; not for programs that launch. */
@NullMarked
package dev.larder.launch.internal;

import org.jspecify.annotations.NullMarked;
