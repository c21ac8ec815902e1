/** Reads files from web servers. Start at {@code HttpReader}. */
@NullMarked
package dev.larder.readers.http;

import org.jspecify.annotations.NullMarked;
