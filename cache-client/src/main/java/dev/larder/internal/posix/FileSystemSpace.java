package dev.larder.internal.posix;

/**
 * The capacity of a file system.
 *
 * @param totalBytes its size
 * @param freeBytes number of bytes available to this user
 * @param totalFiles maximum number of files and folders; 0 if there is no limit
 * @param freeFiles number of files and folders that can still be created
 */
public record FileSystemSpace(long totalBytes, long freeBytes, long totalFiles, long freeFiles) {}
