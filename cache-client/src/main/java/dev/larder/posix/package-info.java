/**
 * The operating system in Java words: start at {@link dev.larder.posix.Posix}, at {@link dev.larder.posix.BulkIo} to fill files,
 * or at {@link dev.larder.posix.MappedMemory} to map one.
 * The only package that knows JNA.
 */
@NullMarked
package dev.larder.posix;

import org.jspecify.annotations.NullMarked;
