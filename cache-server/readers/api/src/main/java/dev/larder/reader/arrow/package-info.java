/**
 * Arrow's schemas, as Arrow files begin with them and Parquet files have them in their metadata: so the daemon and a reader give the same type
 * the same arrays.
 */
@NullMarked
package dev.larder.reader.arrow;

import org.jspecify.annotations.NullMarked;
