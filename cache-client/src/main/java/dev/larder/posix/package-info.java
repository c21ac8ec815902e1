/** The operating system in Java words: start at {@link dev.larder.posix.Posix}. The only package that knows JNA. */
@NullMarked
package dev.larder.posix;

import org.jspecify.annotations.NullMarked;
