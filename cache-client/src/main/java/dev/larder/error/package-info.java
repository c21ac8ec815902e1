/** Errors in a form that people, programs and the control plane can read. Start at {@link dev.larder.error.LarderException}. */
@NullMarked
package dev.larder.error;

import org.jspecify.annotations.NullMarked;
