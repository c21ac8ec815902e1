/** Process groups of ranks; the packages below have their parts. */
@NullMarked
package dev.larder.distributed;

import org.jspecify.annotations.NullMarked;
