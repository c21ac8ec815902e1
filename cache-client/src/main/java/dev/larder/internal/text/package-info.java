/** Writes texts as Python does. */
@NullMarked
package dev.larder.internal.text;

import org.jspecify.annotations.NullMarked;
