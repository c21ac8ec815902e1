package dev.larder.loader.device;

/**
 * Slots of a ring that other processes read. A loader gathers its batches there instead of in its own memory. {@code
 * BatchPublisher.slots()} returns them; the publisher owns the memory, which outlives the loader.
 */
public interface HostSlots {}
