/** Reads elements and rows of arrays at addresses that the caller has checked. {@code ArrayView} is its main user. */
@NullMarked
package dev.larder.internal.view;

import org.jspecify.annotations.NullMarked;
