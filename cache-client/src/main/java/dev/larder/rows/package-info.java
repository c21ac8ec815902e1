/** Specifies rows that are computed once. {@link dev.larder.client.Dataset#rows} opens them. */
@NullMarked
package dev.larder.rows;

import org.jspecify.annotations.NullMarked;
