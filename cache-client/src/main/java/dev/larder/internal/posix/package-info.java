/**
 * Wraps the operating system. Start at {@link dev.larder.internal.posix.Posix}, at {@link dev.larder.internal.posix.BulkIo} to fill files,
 * or at {@link dev.larder.internal.posix.MappedMemory} to map one. The only package that uses JNA.
 */
@NullMarked
package dev.larder.internal.posix;

import org.jspecify.annotations.NullMarked;
