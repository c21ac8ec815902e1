/** Says which rows are computed once, and how; {@link dev.larder.client.Dataset#rows} opens them. */
@NullMarked
package dev.larder.rows;

import org.jspecify.annotations.NullMarked;
