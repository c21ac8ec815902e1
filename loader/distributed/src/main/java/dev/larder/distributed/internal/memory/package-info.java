/** Memory that several processes write, and waits for a word of it. */
@NullMarked
package dev.larder.distributed.internal.memory;

import org.jspecify.annotations.NullMarked;
