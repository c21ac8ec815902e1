/** Reads HDF5. Found by {@link java.util.ServiceLoader} as a {@link dev.larder.reader.FormatReader}. */
@NullMarked
package dev.larder.readers.hdf5;

import org.jspecify.annotations.NullMarked;
