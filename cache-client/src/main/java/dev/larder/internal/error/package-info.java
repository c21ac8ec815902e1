/** How errors and warnings are made: every message says what failed, with which values, and what to do. */
@NullMarked
package dev.larder.internal.error;

import org.jspecify.annotations.NullMarked;
