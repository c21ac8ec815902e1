/** The reader of Zarr, versions 2 and 3. The daemon starts it in a process of its own. */
@NullMarked
package dev.larder.readers.zarr;

import org.jspecify.annotations.NullMarked;
