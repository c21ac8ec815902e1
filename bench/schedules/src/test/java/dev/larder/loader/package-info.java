/** The threads of a loader. */
@NullMarked
package dev.larder.loader;

import org.jspecify.annotations.NullMarked;
