package dev.larder.loader.device;

/**
 * Memory into which a loader gathers its batches instead of its own: the slots of a ring that other processes read, from {@code
 * BatchPublisher.slots()}. It belongs to the publisher, and outlives the loader.
 */
public interface HostSlots {}
