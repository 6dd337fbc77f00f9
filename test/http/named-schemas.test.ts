import { nameSchemas } from '../../src/http/documents/named-schemas.js';

const PET = { title: 'Pet', description: 'An animal.', type: 'object', properties: { age: { type: 'integer' } } };

it('moves what has a title out, under that title, wherever it stands', () => {
  const house = { title: 'House', properties: { first: PET, all: { items: PET } } };
  const { root, schemas } = nameSchemas({ answer: house, other: [PET] });
  const pet = { $ref: '#/components/schemas/Pet' };
  expect(root).toEqual({ answer: { $ref: '#/components/schemas/House' }, other: [pet] });
  expect(schemas).toEqual({
    Pet: { description: 'An animal.', type: 'object', properties: { age: { type: 'integer' } } },
    House: { properties: { first: { ...pet, description: 'An animal.' }, all: { items: pet } } },
  });
});

it('gives an enum and a const the type of their values', () => {
  const schema = { items: [{ enum: ['a', 'b'] }, { const: true }, { type: 'string', enum: ['c'] }] };
  expect(nameSchemas(schema).root).toEqual({
    items: [
      { type: 'string', enum: ['a', 'b'] },
      { type: 'boolean', const: true },
      { type: 'string', enum: ['c'] },
    ],
  });
});

it('leaves a field alone that is itself called title, or properties', () => {
  const schema = { type: 'object', properties: { title: { type: 'string' }, properties: { type: 'object' } } };
  expect(nameSchemas(schema)).toEqual({ root: schema, schemas: {} });
});

it('refuses two different schemas of one title', () => {
  expect(() => nameSchemas({ a: PET, b: { ...PET, type: 'string' } })).toThrow(
    'two schemas of /openapi.json are named Pet',
  );
});
