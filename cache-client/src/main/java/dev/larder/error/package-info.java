/** What went wrong, in a form that people, programs and the control plane read: start at {@link dev.larder.error.LarderException}. */
@NullMarked
package dev.larder.error;

import org.jspecify.annotations.NullMarked;
